/** `earpiece/bus`. Events become notifications: subscribers from files, templates, conditions. */
import '../node-version.ts';

export * from '../bus/index.ts';
