export { checkKnown, MAX_DEPTH, MESSAGE_CHARS } from './talk.ts';
export { QUOTA } from './quota.ts';
export { Talk, TALK_TOOLS } from './tools.ts';
export { askedAbout, became, forget, isAskedAbout } from './waiting.ts';
