import { isGone } from '../../core/errors.ts';
import type { ViewName } from '../../core/records.ts';
import { renderer } from '../../core/views/render.ts';
import type { Render } from '../../core/views/view.ts';

const render = renderer();

/** TOON is loaded only when needed: each process that carries pays for loading it, and few conversations read TOON. */
export async function rendererOf(format: ViewName): Promise<Render> {
  if (format !== 'toon') return render;
  try {
    return (await import('../../core/views/index.ts')).render;
  } catch (error) {
    if (!isGone(error)) throw error;
    // TOON could not be loaded: JSON takes its place.
    return (_format, frame) => render('json', frame);
  }
}
