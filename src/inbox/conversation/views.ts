import { isGone } from '../../core/errors.ts';
import type { ViewName } from '../../core/records.ts';
import { renderer } from '../../core/views/render.ts';
import type { Render } from '../../core/views/view.ts';

const render = renderer();

/**
 * Loads the renderer of a view. TOON is loaded only when needed, because loading takes time and few conversations use this view.
 */
export async function rendererOf(format: ViewName): Promise<Render> {
  if (format !== 'toon') return render;
  try {
    return (await import('../../core/views/index.ts')).render;
  } catch (error) {
    if (!isGone(error)) throw error;
    // The module's file no longer exists after an upgrade, so JSON replaces TOON.
    return (_format, frame) => render('json', frame);
  }
}
