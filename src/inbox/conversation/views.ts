import { isGone } from '../../core/errors.ts';
import type { ViewName } from '../../core/records.ts';
import { renderer } from '../../core/views/render.ts';
import type { Render } from '../../core/views/view.ts';

const render = renderer();

/** Loads the renderer of a view. TOON is loaded only when needed, because loading it takes time and few conversations read it. */
export async function rendererOf(format: ViewName): Promise<Render> {
  if (format !== 'toon') return render;
  try {
    return (await import('../../core/views/index.ts')).render;
  } catch (error) {
    if (!isGone(error)) throw error;
    // TOON could not be loaded, so JSON replaces it.
    return (_format, frame) => render('json', frame);
  }
}
