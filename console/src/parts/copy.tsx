import { useState, type ReactElement } from 'react';
import { useCell } from '../state/cell.ts';
import { session } from '../state/session.ts';
import { Icon } from './icons.tsx';

/** A button that copies a text and shows whether the copy succeeded. */
export function Copy({
  text,
  label = 'copy',
  what,
}: {
  readonly text: string;
  readonly label?: string;
  readonly what: string;
}): ReactElement {
  const [said, setSaid] = useState<string | null>(null);
  const copy = async (): Promise<void> => {
    setSaid((await copied(text)) ? 'copied' : 'select the text and press Ctrl+C');
    setTimeout(() => setSaid(null), 2_000);
  };
  return (
    <button type="button" className="quiet small" onClick={() => void copy()} aria-label={`${label} ${what}`}>
      <Icon name="copy" />
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}

/** Copies a text. A page without https may have only the old clipboard API. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

/** The command that prints a login URL for this server, at the address at which this browser reaches the server. */
export const LOGIN_COMMAND = `earpiece token login${window.location.origin === 'http://127.0.0.1:4747' ? '' : ` --url ${window.location.origin}`}`;

/**
 * A command with a copy button. The command has the options with which a terminal on the server's machine uses the same database.
 */
export function Command({ text }: { readonly text: string }): ReactElement {
  const who = useCell(session);
  const ours = who.kind === 'in' ? who.reply.shell.earpiece : 'earpiece';
  const line = text.replace(/^earpiece(?= )/u, () => ours);
  return (
    <div className="command">
      <code>{line}</code>
      <Copy text={line} what={line} />
    </div>
  );
}
