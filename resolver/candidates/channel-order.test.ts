import { deepStrictEqual, throws } from 'node:assert';
import { test } from 'vitest';
import { type ChannelLink, channelOrder } from './index.ts';

const place = { packageName: 'blue', channel: 'stable' };

function entry(name: string, replaces?: string, ...skips: string[]): ChannelLink {
  return { name, skips, ...(replaces === undefined ? {} : { replaces }) };
}

function order(...entries: ChannelLink[]): readonly string[] {
  return channelOrder(entries, place).map(({ name }) => name);
}

test('entries follow the chain of replaces from the head, whatever their order in the catalog', () => {
  deepStrictEqual(order(entry('v1'), entry('v3', 'v2'), entry('v2', 'v1')), ['v3', 'v2', 'v1']);
  deepStrictEqual(order(), []);
});

test('skipped entries are left out, and their own chain is followed', () => {
  deepStrictEqual(order(entry('v3', 'v2', 'v2'), entry('v2', 'v1'), entry('v1')), ['v3', 'v1']);
  deepStrictEqual(order(entry('v3', 'v1', 'v2'), entry('v2', 'v1'), entry('v1')), ['v3', 'v1']);
});

test('an entry that replaces what the channel lacks ends the chain', () => {
  deepStrictEqual(order(entry('v3', 'v2'), entry('v2', 'gone')), ['v3', 'v2']);
});

test('a channel without head has no order', () => {
  throws(() => order(entry('v2', 'v1'), entry('v1', 'v2')), {
    name: 'ChannelError',
    message:
      'no channel heads (entries not replaced by another entry) found in channel "stable" of package "blue"',
  });
});

test('a cycle below a head is no order', () => {
  throws(() => order(entry('v3', 'v2'), entry('v2', 'v1'), entry('v1', 'v2')), {
    message:
      'a cycle exists in the chain of replacement beginning with "v3" in channel "stable" of package "blue"',
  });
});

test('several heads have no order: their chains are named', () => {
  const text =
    'a unique replacement chain within a channel is required to determine the relative order between channel entries, but 2 replacement chains were found in channel "stable" of package "blue": ';
  throws(() => order(entry('v1'), entry('v0')), { message: `${text}v1, v0` });
  throws(() => order(entry('v3', 'v1'), entry('v2', 'v1'), entry('v1')), {
    message: `${text}v3...v1, v2...v1`,
  });
  throws(() => order(entry('v3', 'v1'), entry('v2', 'v1', 'v1'), entry('v1')), {
    message: `${text}v3, v2`,
  });
});

test('a hundred thousand entries are ordered, or found to have no order, at once', {
  tags: ['slow'],
}, () => {
  const count = 100_000;
  const chain = Array.from({ length: count }, (_, at) => entry(`v${at}`, `v${at - 1}`));
  deepStrictEqual(order(...chain).length, count);
  const half = chain.slice(0, count / 2);
  const heads = Array.from({ length: count / 2 }, (_, at) => entry(`h${at}`, `v${count / 2 - 1}`));
  throws(() => order(...half, ...heads), /50000 replacement chains were found/u);
  throws(() => order(...half, entry('v0', 'v7'), ...heads), /a cycle exists/u);
});
