/** Makes the webhook receivers of the current configuration. A change of the configuration takes effect with the next request. */
import type { Config, Env, Problem } from '../config/index.ts';
import { receiverFrom, type WebhookReceiver } from '../sources/webhooks/index.ts';

/**
 * Makes the function that returns the current receivers. `tell` is called with each new reason why a configured webhook is
 * missing.
 */
export function webhookReceivers(
  current: () => Config,
  { env, tell }: { readonly env: Env; readonly tell: (line: string) => void },
): () => ReadonlyMap<string, WebhookReceiver | undefined> {
  let known: { readonly config: Config; readonly ready: ReadonlyMap<string, WebhookReceiver | undefined> } | undefined;
  const told = new Set<string>();
  return () => {
    const config = current();
    if (known?.config === config) return known.ready;
    const ready = new Map<string, WebhookReceiver | undefined>();
    const problems = config.untrusted.flatMap(({ file, what }) => {
      const names = what.filter((each) => each.startsWith('webhooks.'));
      return names.length === 0
        ? []
        : [`${names.join(', ')} of ${file} is not trusted and is ignored; read the file, then run: earpiece trust`];
    });
    for (const [name, settings] of Object.entries(config.webhooks)) {
      const made = receiverFrom(name, settings, env);
      ready.set(name, made.kind === 'ready' ? made.receiver : undefined);
      if (made.kind === 'problem') problems.push(made.problem);
    }
    for (const line of problems) if (!told.has(line)) tell(line);
    told.clear();
    for (const line of problems) told.add(line);
    known = { config, ready };
    return ready;
  };
}

/**
 * Returns a problem for each webhook secret that is set in this environment but is not valid. A secret that is not set here may
 * be set where the server runs.
 */
export function secretProblems({ webhooks }: Pick<Config, 'webhooks'>, env: Env): readonly Problem[] {
  return Object.entries(webhooks).flatMap(([name, settings]) => {
    if ((env[settings.secretEnv] ?? '').trim() === '') return [];
    const made = receiverFrom(name, settings, env);
    return made.kind === 'ready' ? [] : [{ key: `webhooks.${name}`, message: made.problem }];
  });
}
