/** A banner that says that the page may be out of date. The banner is hidden while the page is live. */
import type { ReactElement } from 'react';
import { useCell } from '../state/cell.ts';
import { lasting } from '../state/clock.ts';
import { connection } from '../state/live.ts';
import { useEffect, useState } from 'react';

export function Banner(): ReactElement | null {
  const state = useCell(connection);
  const online = useOnline();
  const away = state.kind === 'away';
  const [, again] = useState(0);
  useEffect(() => {
    if (!away) return undefined;
    const timer = setInterval(() => again((n) => n + 1), 500);
    return () => clearInterval(timer);
  }, [away]);
  if (state.kind === 'away') {
    const left = state.againAt - Date.now();
    return (
      <div className="banner" role="status">
        <b>{online ? 'Reconnecting' : 'Offline'}</b>
        <span className="words">
          {`the shown data is ${lasting(Date.now() - state.since)} old${left > 900 ? ` · next try in ${Math.ceil(left / 1_000)} s` : ''} · ${state.why}`}
        </span>
      </div>
    );
  }
  return null;
}

export function ConnectionDot(): ReactElement {
  const { kind } = useCell(connection);
  return (
    <span className={`connection connection-${kind}`} role="status">
      <span aria-hidden="true" className="connection-dot" />
      {SAYS[kind]}
    </span>
  );
}

const SAYS = { connecting: 'connecting', live: 'live', away: 'reconnecting', resting: 'resting', over: 'logged out' } as const;

function useOnline(): boolean {
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const look = (): void => setOnline(navigator.onLine);
    window.addEventListener('online', look);
    window.addEventListener('offline', look);
    return () => {
      window.removeEventListener('online', look);
      window.removeEventListener('offline', look);
    };
  }, []);
  return online;
}
