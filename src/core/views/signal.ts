/**
 * Texts of the views that only say that notifications wait. The model fetches the notifications with `get_notifications`. The
 * Japanese texts come from an earlier design, and the English texts mean the same.
 */
export type SignalTexts = {
  readonly none: string;
  readonly waiting: string;
  readonly interrupt: string;
  /** The text after `interrupt` if the call was made and its result is withheld. */
  readonly made: string;
  /** The text after `waiting` if an interrupt refuses calls. */
  readonly unread: string;
  /**
   * Returns the text after `interrupt` or `waiting` for a pause. `lift` is the command that lifts the pause. `until` is when the
   * pause expires.
   */
  readonly paused: (lift: string, until: string | undefined) => string;
  /** Returns the text after `interrupt` for a pause if the call was made and its result is withheld. */
  readonly pausedMade: (lift: string, until: string | undefined) => string;
};

const PULL = 'get_notifications';

/**
 * Returns the text of a signal view. A gateway puts this text into the field `notification` of a tool's result. `pulls`: the
 * model's name for `get_notifications`.
 */
export function signalText(format: 'signal_en' | 'signal_ja', waiting: boolean, pulls: string = PULL): string {
  const texts = signalTexts(format, pulls);
  return waiting ? texts.waiting : texts.none;
}

/**
 * Returns the text of a signal view while an interrupt or a pause holds the gate up. `lift`: see `GateInput`. `waiting` is false
 * if the agent has read every notification.
 */
export function gatedText(
  format: 'signal_en' | 'signal_ja',
  {
    waiting,
    lift,
    until,
    pulls,
  }: { readonly waiting: boolean; readonly pulls: string | undefined } & Record<'lift' | 'until', string | undefined>,
): string {
  const texts = signalTexts(format, pulls);
  return [...(waiting ? [texts.waiting] : []), lift === undefined ? texts.unread : texts.paused(lift, until)].join('\n\n');
}

export const signalTexts = (format: 'signal_en' | 'signal_ja', pulls: string = PULL): SignalTexts => SIGNALS[format](pulls);

const byJa = (lift: string): string => (lift === '' ? '' : ` \`${lift}\` またはコンソールで`);
const byEn = (lift: string): string => (lift === '' ? '' : ` with \`${lift}\` or in the console`);

const SIGNALS: Readonly<Record<'signal_en' | 'signal_ja', (pulls: string) => SignalTexts>> = {
  signal_ja: (pulls) => ({
    none: '通知はありません',
    waiting: `【重要】通知があります。${pulls} を呼び出して確認してください。`,
    interrupt: `通知があります。\n\n1. ${pulls}() を呼び出して詳細を確認してください\n2. 通知の指示に従ってください`,
    made: `このツールは実行されました。結果は ${pulls} を呼び出すまで保留されます。同じ呼び出しを繰り返さないでください。`,
    unread: `割り込みがあります。${pulls} を呼び出すまで、ツールは実行されません。`,
    paused: (lift, until) =>
      `一時停止中です。${until === undefined ? '' : `${until} まで、または`}人が${byJa(lift)}解除するまで、ツールは実行されません。`,
    pausedMade: (lift, until) =>
      `一時停止中です。ツールは実行されましたが、${until === undefined ? '' : `${until} まで、または`}人が${byJa(lift)}解除するまで、結果は保留されます。`,
  }),
  signal_en: (pulls) => ({
    none: 'No notifications',
    waiting: `[Important] There are notifications. Call ${pulls} to read them.`,
    interrupt: `There are notifications.\n\n1. Call ${pulls}() for the details\n2. Follow the instructions of the notifications`,
    made: `This call was made; its result is withheld until you have called ${pulls}. Do not repeat the call.`,
    unread: `An interrupt is unread: tool calls are refused until you have called ${pulls}.`,
    paused: (lift, until) =>
      `A pause holds: no tool runs until ${until === undefined ? '' : `${until}, or until `}a person lifts it${byEn(lift)}.`,
    pausedMade: (lift, until) =>
      `A pause holds: tools run, but each result is withheld until ${until === undefined ? '' : `${until}, or until `}a person lifts it${byEn(lift)}.`,
  }),
};
