import 'preact';
import '../../src/stores/index.ts';
import { isType } from '../../src/core/records.ts';
import type { Stored } from '../../src/core/records.ts';
import { createClient } from '../../src/wire/client/index.ts';
import './beside.ts';

export const reached = (record: Stored): readonly unknown[] => [isType(record.body, 'turn_start'), createClient];
