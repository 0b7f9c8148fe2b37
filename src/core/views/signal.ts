/**
 * Views that only say that there is something; the model fetches it with `get_notifications`. The Japanese texts are those
 * of the third of the designs that this system grew from, the English ones say the same.
 */
export type SignalTexts = {
  readonly none: string;
  readonly waiting: string;
  readonly interrupt: string;
  /** Behind `interrupt` where a pause is among them; `lift` is the command that lifts it. */
  readonly paused: (lift: string) => string;
  /** The same where the call was made and its result is withheld. */
  readonly pausedMade: (lift: string) => string;
};

const PULL = 'get_notifications';

/** What the field `notification` says, which is always there. `pulls`: by which name the model knows the tool. */
export function signalText(format: 'signal_en' | 'signal_ja', waiting: boolean, pulls: string = PULL): string {
  const texts = signalTexts(format, pulls);
  return waiting ? texts.waiting : texts.none;
}

export const signalTexts = (format: 'signal_en' | 'signal_ja', pulls: string = PULL): SignalTexts => SIGNALS[format](pulls);

const SIGNALS: Readonly<Record<'signal_en' | 'signal_ja', (pulls: string) => SignalTexts>> = {
  signal_ja: (pulls) => ({
    none: '通知はありません',
    waiting: `【重要】通知があります。${pulls} を呼び出して確認してください。`,
    interrupt: `通知があります。\n\n1. ${pulls}() を呼び出して詳細を確認してください\n2. 通知の指示に従ってください`,
    paused: (lift) => `一時停止中です。人が \`${lift}\` またはコンソールで解除するまで、ツールは実行されません。`,
    pausedMade: (lift) =>
      `一時停止中です。ツールは実行されましたが、人が \`${lift}\` またはコンソールで解除するまで、結果は保留されます。`,
  }),
  signal_en: (pulls) => ({
    none: 'No notifications',
    waiting: `[Important] There are notifications. Call ${pulls} to read them.`,
    interrupt: `There are notifications.\n\n1. Call ${pulls}() for the details\n2. Follow the instructions of the notifications`,
    paused: (lift) => `This is a pause: no tool runs until a person lifts it with \`${lift}\` or in the console.`,
    pausedMade: (lift) =>
      `This is a pause: tools run, but each result is withheld until a person lifts it with \`${lift}\` or in the console.`,
  }),
};
