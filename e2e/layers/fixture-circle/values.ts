import { type Middle } from './folder/middle.ts';

export const first = (next: Middle): string => next.name;
