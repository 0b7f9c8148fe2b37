/** Whether a text has no visible character: only spaces, control characters and characters without width, such as U+200B. */
export const isBlank = (text: string): boolean => !/[^\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u.test(text);
