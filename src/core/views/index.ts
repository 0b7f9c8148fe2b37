import { renderer } from './render.ts';
import { toon } from './toon.ts';

export type { Render, ViewInput } from './view.ts';
export { gateText, type GateInput } from './gate.ts';
export { signalText } from './signal.ts';

/**
 * Renders every format. Hosts load this module only for a conversation that reads TOON: see `src/inbox/conversation/views.ts`.
 */
export const render = renderer(toon);
