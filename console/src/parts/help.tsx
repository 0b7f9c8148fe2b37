import type { ReactElement } from 'react';
import { PALETTE_KEY } from '../state/over.ts';
import { Dialog } from './dialog.tsx';

const KEYS = [
  [PALETTE_KEY, 'find agents, conversations, notifications, commands'],
  ['j, k', 'next, previous row'],
  ['Enter', 'open the row'],
  ['w', 'why: explain the selected or newest notification'],
  ['m', 'write a message'],
  ['/', 'search: this conversation, or the list on the page'],
  ['p', 'pause or resume'],
  ['s', 'stop (asks once)'],
  ['Esc', 'close, or leave the text field'],
  ['?', 'show these keys'],
] as const;

export const Help = ({ onClose }: { readonly onClose: () => void }): ReactElement => (
  <Dialog label="Keys" className="help" onClose={onClose}>
    <h2>Keys</h2>
    <dl>
      {KEYS.map(([key, does]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
    <button type="button" onClick={onClose}>
      Close
    </button>
  </Dialog>
);
