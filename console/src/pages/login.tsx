import { useState, type ReactElement } from 'react';
import { Command, LOGIN_COMMAND } from '../parts/copy.tsx';
import { Problem } from '../parts/empty.tsx';
import { messageOf } from '../state/loaded.ts';
import { enter } from '../state/session.ts';

export function LoginPage({ why }: { readonly why: string | null }): ReactElement {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  return (
    <main className="login">
      <h1>Earpiece</h1>
      <p>Open the URL that the server printed at its start, or print a new URL:</p>
      <Command text={LOGIN_COMMAND} />
      <p className="muted">If the server was started with --db, add the same --db.</p>
      <p>Or enter a token:</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setBusy(true);
          setProblem(null);
          enter(token)
            .catch((error: unknown) => setProblem(messageOf(error)))
            .finally(() => setBusy(false));
        }}
      >
        <label>
          <span>Token</span>
          <input type="password" autoComplete="off" value={token} onChange={(event) => setToken(event.target.value)} />
        </label>
        <button type="submit" className="primary" disabled={busy || token.trim() === ''}>
          {busy ? 'asking …' : 'Log in'}
        </button>
      </form>
      {(problem ?? why) !== null && !busy && <Problem text={problem ?? why ?? ''} />}
    </main>
  );
}
