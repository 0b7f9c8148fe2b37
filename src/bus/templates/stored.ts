/**
 * Stores templates, so that any process can render the notifications of any other process, even after the template's file has
 * changed.
 */
import type { Json } from '../../core/json.ts';
import type { Line } from '../../core/plan.ts';
import type { LineRenderer, Rendered, Store } from '../../core/ports.ts';
import type { Template } from '../subscriber.ts';
import { contextOf } from './context.ts';
import type { TemplateEngine } from './engine.ts';

/** The maximum number of templates in memory. */
const REMEMBERED = 256;

export type StoredTemplates = LineRenderer & {
  /**
   * Stores a template before a notification that refers to it is queued. Rejects with the store's error. The next call tries
   * again.
   */
  keep(template: Template): Promise<void>;
};

type Kept = Pick<Template, 'name' | 'text'>;

export function storedTemplates(
  store: Pick<Store, 'setting' | 'setSetting'>,
  engine: Pick<TemplateEngine, 'render'> & Partial<Pick<TemplateEngine, 'busy'>>,
): StoredTemplates {
  const known = new Map<string, Kept>();
  /** Templates that the store has or that are being stored. */
  const keeping = new Map<string, Promise<void>>();

  const remember = (hash: string, template: Kept): void => {
    known.set(hash, template);
    const [oldest] = known.keys();
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
  };

  const find = async (hash: string): Promise<Kept | undefined> => {
    const found = known.get(hash) ?? read(await store.setting(keyOf(hash)));
    if (found) remember(hash, found);
    return found;
  };

  return {
    keep({ hash, name, text }) {
      const before = keeping.get(hash);
      if (before) return before;
      const kept = (async () => {
        // A read is cheaper than a write, and usually the store already has the template.
        if ((await find(hash)) === undefined) await store.setSetting(keyOf(hash), { name, text });
        remember(hash, { name, text });
      })();
      keeping.set(hash, kept);
      kept.catch(() => keeping.delete(hash));
      return kept;
    },

    async render(line: Line, { timeZone }): Promise<Rendered> {
      const hash = line.subscriber?.template;
      if (hash === undefined) return { kind: 'failed', reason: 'the subscriber has no template' };
      let template: Kept | undefined;
      try {
        template = await find(hash);
      } catch (error) {
        return {
          kind: 'failed',
          reason: `template ${hash.slice(0, 8)}: ${error instanceof Error ? error.message : String(error)}`,
        };
      }
      if (!template) return { kind: 'failed', reason: `template ${hash.slice(0, 8)} is not in this store` };
      return engine.render(template, contextOf(line, { timeZone }));
    },

    busy: () => engine.busy === true,
  };
}

const keyOf = (hash: string): string => `template ${hash}`;

function read(value: Json | undefined): Kept | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { name, text } = value as Readonly<Record<string, Json>>;
  return typeof name === 'string' && typeof text === 'string' ? { name, text } : undefined;
}
