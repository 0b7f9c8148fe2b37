/** `earpiece/config`. `earpiece.toml`: what it may say and what follows from it. */
import '../node-version.ts';

export * from '../config/index.ts';
