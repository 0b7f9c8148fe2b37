import { renderer } from './render.ts';
import { toon } from './toon.ts';

export type { Render, ViewInput } from './view.ts';
export { gateText, type GateInput } from './gate.ts';
export { signalText } from './signal.ts';

/** Renders every format. Hosts load only the views that their conversation reads: see `src/inbox/conversation/views.ts`. */
export const render = renderer(toon);
