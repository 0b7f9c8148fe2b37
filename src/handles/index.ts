/** Provides background tools: handles, the tool `await`, processes and terminals, the built-in tool `run`. */
export { HandleRegistry, handleRegistry } from './registry.ts';
export type { HandleRegistryOptions, HandleSettings } from './registry-options.ts';
export type { HandleView } from './answers.ts';
export type { Recovered } from './recover.ts';
export { TURN_END_ANSWERS, type Inquiry, type TurnEnd, type TurnEndAnswer } from './turn-end.ts';
export { schemaOf, type HandleSide, type OnTurnEnd, type StatefulTool } from './stateful-tool.ts';
export { ToolFailure } from './state.ts';
export { processTool, type ProcessToolOptions } from './process-tool.ts';
export { runTool, type RunOptions } from './run.ts';
export { isSecret } from './environment.ts';
