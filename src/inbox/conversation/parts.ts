import type { Contact } from './contact.ts';
import type { Frames } from './frames.ts';
import type { Recipient } from './recipient.ts';

/** The parts that all ways of delivery to one conversation share: carry, offer, pull and gate. */
export type Parts = { readonly recipient: Recipient; readonly contact: Contact; readonly frames: Frames };
