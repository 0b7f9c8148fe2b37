/** Background tools: handles, the tool `await`, processes and terminals, the built-in tool `run`. */
export { HandleRegistry, handleRegistry, statefulTool } from './registry.ts';
export type { HandleRegistryOptions, HandleSettings } from './registry-options.ts';
export type { HandleView, Answer } from './answers.ts';
export type { NoticeInbox } from './herald.ts';
export type { Recovered } from './recover.ts';
export { TURN_END_ANSWERS, type Inquiry, type TurnEnd, type TurnEndAnswer, type TurnEndOptions } from './turn-end.ts';
export {
  schemaOf,
  type Action,
  type Args,
  type HandleSide,
  type Input,
  type OnTurnEnd,
  type Range,
  type Reading,
  type Serves,
  type StatefulTool,
} from './stateful-tool.ts';
export { ToolFailure, type Ending, type ToolError, type ToolResult, type ToolState } from './state.ts';
export { processTool, type CommandLine, type ProcessToolOptions } from './process-tool.ts';
export { runTool, type RunOptions } from './run.ts';
export { isSecret, withoutSecrets } from './environment.ts';
