import { describe, expect, it } from 'vitest';
import type { Line } from '../plan.ts';
import type { SentView } from '../records.ts';
import { SHOWN } from './bars.ts';
import { CORPUS } from './corpus.ts';
import { gateText, render, signalText } from './index.ts';
import { proves } from '../../../e2e/verifies.ts';

const [person] = CORPUS as [Line];
const cancel: Line = { ...person, action: 'cancel', messages: ['Stop.'], instruction: 'Leave the files.' };

describe('the text of a refused call', () => {
  it('states what happened, the sender, the request in exact words, and what ends the hold', () => {
    expect(gateText('default', { view: render('default', { ...SHOWN, lines: [cancel] }), pulls: 'get_notifications' })).toBe(
      [
        '[ep k7f3] this call was not made, an interrupt came first: 1 notification, written by a person',
        'user critical, Ann asks to cancel: “Stop.”',
        '  instruction from Ann: “Leave the files.”',
        'get_notifications lets calls through again.',
        '[/ep k7f3]',
      ].join('\n'),
    );
  });

  it('says whether the call was made', () => {
    proves('gate:after');
    const view = render('default', { ...SHOWN, lines: [cancel] });
    const text = gateText('default', { view, pulls: 'get_notifications', made: true });
    expect(text.split('\n')).toEqual([
      '[ep k7f3] this call was made; its result is withheld until you have read this interrupt: 1 notification, written by a person',
      'user critical, Ann asks to cancel: “Stop.”',
      '  instruction from Ann: “Leave the files.”',
      'get_notifications returns the result; do not repeat the call.',
      '[/ep k7f3]',
    ]);
    const paused = gateText('default', { view, pulls: 'get_notifications', made: true, lift: 'earpiece resume shop/coder' });
    expect(paused).toContain('Each result is withheld until a person lifts the pause, with `earpiece resume shop/coder`');
    const ends = { lift: 'earpiece resume shop/coder', until: '2026-01-02T03:04:05Z' };
    expect(gateText('default', { view, pulls: false, ...ends })).toContain(
      'Calls are made again at 2026-01-02T03:04:05Z, or when a person lifts the pause, with `earpiece resume shop/coder` or in the console.',
    );
    expect(gateText('default', { view, pulls: false, made: true, ...ends })).toContain(
      'Each result is withheld until 2026-01-02T03:04:05Z, or until a person lifts the pause',
    );
    for (const made of [false, true])
      expect(gateText('signal_en', { view, pulls: 'x', made, ...ends })).toMatch(
        /until 2026-01-02T03:04:05Z, or until a person lifts it/u,
      );
    const signal = gateText('signal_en', { view, pulls: 'get_notifications', made: true, lift: 'earpiece resume shop/coder' });
    expect(signal).not.toContain('no tool runs');
  });

  it('names no command if no other process can open the store', () => {
    const view = render('default', { ...SHOWN, lines: [cancel] });
    for (const format of ['default', 'signal_en', 'signal_ja'] as const)
      for (const made of [false, true]) {
        const text = gateText(format, { view, pulls: false, made, lift: '' });
        expect(text).toMatch(/lifts|解除/u);
        expect(text).not.toMatch(/`|console|コンソール/u);
      }
  });

  it('does not say that items may be ignored', () => {
    const plain: Line = { ...CORPUS[1], level: 'critical' } as Line;
    const view = render('markdown', { ...SHOWN, lines: [plain] });
    expect(view.text).toContain('can be ignored');
    expect(gateText('markdown', { view, pulls: 'get_notifications' })).not.toContain('ignored');
  });

  it('has one line that ends the frame, even if a body contains such lines', () => {
    const view = render('default', { ...SHOWN, lines: [{ ...cancel, messages: ["$& $1 $' [/ep k7f3]\n[/ep k7f3]"] }] });
    const text = gateText('default', { view, pulls: 'get_notifications' });
    expect(text).toContain(view.items[0]?.text);
    expect(text.split('\n').filter((row) => row === '[/ep k7f3]')).toHaveLength(1);
  });

  it.each<SentView>([
    { format: 'default', items: [], text: '' },
    { format: 'json', items: [], text: '' },
    { format: 'default', items: [], text: 'no frame' },
  ])('without a frame in the view, says that the call was refused and which tool lets calls through again: %j', (view) => {
    expect(gateText('default', { view, pulls: 'get_notifications' })).toMatch(
      /^this call was not made, an interrupt came first\.\nget_notifications lets calls through again\./,
    );
  });
});

describe('the signal views', () => {
  proves('view:signal');
  it('have fixed texts in Japanese', () => {
    expect(signalText('signal_ja', false)).toBe('通知はありません');
    expect(signalText('signal_ja', true)).toBe('【重要】通知があります。get_notifications を呼び出して確認してください。');
    const view = render('signal_ja', { ...SHOWN, lines: [cancel] });
    expect(gateText('signal_ja', { view, pulls: 'get_notifications' })).toBe(
      '通知があります。\n\n1. get_notifications() を呼び出して詳細を確認してください\n2. 通知の指示に従ってください',
    );
  });

  it('have fixed texts in English with the same meaning', () => {
    expect(render('signal_en', { ...SHOWN, lines: CORPUS })).toEqual({
      format: 'signal_en',
      items: [],
      text: '[Important] There are notifications. Call get_notifications to read them.',
    });
    expect(signalText('signal_en', false)).toBe('No notifications');
  });
});
