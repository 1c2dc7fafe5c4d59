import { expect, test } from 'vitest';
import type { CobraFlag } from './command.ts';
import { parseFlags } from './parse-flags.ts';

const flags: readonly CobraFlag[] = [
  { name: 'output', short: 'o', kind: 'string', default: 'json', usage: '' },
  { name: 'labels', short: 'l', kind: 'strings', usage: '' },
  { name: 'limit', kind: 'uint', default: '1048576', usage: '' },
  { name: 'gzip', short: 'z', kind: 'bool', usage: '' },
  { name: 'tls', short: 's', kind: 'bool', usage: '', deprecated: 'use --gzip instead' },
];

function read(line: string) {
  const { args, values, warnings } = parseFlags(line.split(' ').filter(Boolean), flags);
  return {
    args,
    output: values.string('output'),
    labels: values.strings('labels'),
    limit: values.uint('limit'),
    gzip: values.bool('gzip'),
    warnings,
  };
}

const defaults = {
  args: [],
  output: 'json',
  labels: [],
  limit: 1048576n,
  gzip: false,
  warnings: [],
};

test.each([
  ['', {}],
  ['a --output yaml b', { args: ['a', 'b'], output: 'yaml' }],
  ['-o yaml', { output: 'yaml' }],
  ['-oyaml', { output: 'yaml' }],
  ['-o=yaml', { output: 'yaml' }],
  ['-zo yaml', { gzip: true, output: 'yaml' }],
  ['-z=false a', { args: ['a'] }],
  ['--gzip=T', { gzip: true }],
  ['--output= x', { args: ['x'], output: '' }],
  ['- -- --gzip -o', { args: ['-', '--gzip', '-o'] }],
  ['-l a=1,b=2 -l "c,d",e', { labels: ['a=1', 'b=2', 'c,d', 'e'] }],
  ['--limit 0x10', { limit: 16n }],
  ['-s --tls', { warnings: Array(2).fill('Flag --tls has been deprecated, use --gzip instead\n') }],
])('"%s" is read', (line, expected) => {
  expect(read(line)).toEqual({ ...defaults, ...expected });
});

test.each([
  ['--nope', 'unknown flag: --nope'],
  ['-zqx', "unknown shorthand flag: 'q' in -qx"],
  ['--output', 'flag needs an argument: --output'],
  ['-zo', "flag needs an argument: 'o' in -o"],
  ['--=x', 'bad flag syntax: --=x'],
  [
    '--gzip=maybe',
    'invalid argument "maybe" for "-z, --gzip" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
  ],
  [
    '--limit=-1',
    'invalid argument "-1" for "--limit" flag: strconv.ParseUint: parsing "-1": invalid syntax',
  ],
  [
    '-l a="b"',
    'invalid argument "a=\\"b\\"" for "-l, --labels" flag: parse error on line 1, column 3: bare " in non-quoted field',
  ],
])('"%s" is refused as by pflag', (line, message) => {
  expect(() => read(line)).toThrow(new Error(message));
});
