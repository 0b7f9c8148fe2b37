import type { first } from '../values.ts';

export const last = (it: typeof first): string => it.name;
