import { first } from './values.ts';
import { outside } from './outside.ts';

export const later = [first, outside];
