/** The open dialog over the page. */
import { Cell } from './cell.ts';

export type Over = 'palette' | 'help' | null;
export const over = new Cell<Over>(null);

const APPLE = /mac|iphone|ipad/iu.test(navigator.platform);
export const PALETTE_KEY = APPLE ? '⌘K' : 'Ctrl K';
