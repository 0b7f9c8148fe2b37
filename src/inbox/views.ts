import type { ViewName } from '../core/records.ts';
import { renderer } from '../core/views/render.ts';
import type { Render } from '../core/views/view.ts';

const render = renderer();

/** Each process that carries pays for what it loads, and few conversations read TOON. */
export const rendererOf = async (format: ViewName): Promise<Render> =>
  format === 'toon' ? (await import('../core/views/index.ts')).render : render;
