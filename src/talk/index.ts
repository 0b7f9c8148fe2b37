export { MAX_DEPTH, MESSAGE_CHARS, tell, tellWhen } from './talk.ts';
export { QUOTA } from './quota.ts';
export { isTalkTool, Talk, TALK_TOOLS, type TalkTool } from './tools.ts';
export { became, waitingKey, type State } from './waiting.ts';
