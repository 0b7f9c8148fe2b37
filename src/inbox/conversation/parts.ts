import type { Contact } from './contact.ts';
import type { Frames } from './frames.ts';
import type { Recipient } from './recipient.ts';

/** The parts that all ways to deliver to one conversation (carry, offer, pull, gate) share. */
export type Parts = { readonly recipient: Recipient; readonly contact: Contact; readonly frames: Frames };
