/** Escapes a text as in JSON, because a text column of PostgreSQL accepts neither U+0000 nor a lone surrogate. */
export const toColumn = (text: string): string => JSON.stringify(text).slice(1, -1);
export const fromColumn = (text: string): string => JSON.parse(`"${text}"`) as string;
export const toColumnOrNull = (text: unknown): string | null => (typeof text === 'string' ? toColumn(text) : null);
