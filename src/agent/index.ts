export { Agent, createAgent, type AgentOptions, type TurnEnding, type TurnResult } from './agent.ts';
export type { AgentEvent } from './events.ts';
export { askInquiries } from './inquiries.ts';
export { MODES, nextModes, type Mode } from './modes.ts';
export { openModel, PROVIDERS } from './models.ts';
export { ownTools, type OwnToolOptions } from './own-tools.ts';
export { callOptionsOf, familyOf, placementOf, syntheticTool, type Family, type Placement } from './placement.ts';
export { promptOf, unanswered, type PromptOptions } from './prompt.ts';
export type { Tool, ToolCall, ToolOutcome } from '../sources/tool.ts';
