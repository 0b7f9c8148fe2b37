import type { NotificationId } from '../core/notification.ts';

/** The reason why the agent ended a stream or tools. `is` decides how the turn continues. */
export class Interruption extends Error {
  override readonly name = 'Interruption';
  readonly is: { readonly kind: 'stop' } | { readonly kind: 'reply' } | { readonly kind: 'forced'; readonly by: NotificationId };

  constructor(is: Interruption['is']) {
    super(is.kind === 'stop' ? 'stopped by a person' : is.kind === 'reply' ? 'a person replied' : `interrupted by ${is.by}`);
    this.is = is;
  }
}

export const STOPPED = new Interruption({ kind: 'stop' });
export const REPLIED = new Interruption({ kind: 'reply' });
