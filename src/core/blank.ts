/** Whether a text has no visible character: only spaces, control and format characters (such as U+200B) and lone surrogates. */
export const isBlank = (text: string): boolean => !/[^\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u.test(text);
