/** Who may send webhooks, as the configuration is now: what is new, changed, gone or trusted counts from the next request on. */
import type { Config, Env } from '../config/index.ts';
import { receiverFrom, type WebhookReceiver } from '../sources/webhooks/index.ts';

/** `tell`: why one that is written is not there, once. */
export function webhookReceivers(
  current: () => Config,
  { env, tell }: { readonly env: Env; readonly tell: (line: string) => void },
): () => ReadonlyMap<string, WebhookReceiver> {
  let known: { readonly config: Config; readonly ready: ReadonlyMap<string, WebhookReceiver> } | undefined;
  const told = new Set<string>();
  return () => {
    const config = current();
    if (known?.config === config) return known.ready;
    const ready = new Map<string, WebhookReceiver>();
    const problems = config.untrusted.flatMap(({ file, what }) => {
      const names = what.filter((each) => each.startsWith('webhooks.'));
      return names.length === 0
        ? []
        : [`${names.join(', ')} of ${file} is not trusted and left out; look at it and say: earpiece trust`];
    });
    for (const [name, settings] of Object.entries(config.webhooks)) {
      const made = receiverFrom(name, settings, env);
      if (made.kind === 'ready') ready.set(name, made.receiver);
      else problems.push(made.problem);
    }
    for (const line of problems) if (!told.has(line)) tell(line);
    told.clear();
    for (const line of problems) told.add(line);
    known = { config, ready };
    return ready;
  };
}
