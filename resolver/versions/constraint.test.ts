import { describe, expect, it } from 'vitest';
import { parseConstraint, parseVersion, satisfies, VersionError } from './index.ts';

const candidates = [
  '0.0.3',
  '0.2.3',
  '1.11.0',
  '1.11.5',
  '1.12.0-rc.1',
  '1.12.0',
  '1.12.1',
  '1.13.0',
  '2.0.0',
];

function allowed(text: string, versions: readonly string[] = candidates): readonly string[] {
  const constraint = parseConstraint(text);
  return versions.filter((version) => satisfies(parseVersion(version), constraint));
}

describe('a constraint', () => {
  // Recorded from Masterminds/semver v3.2.1.
  it.each([
    ['>=1.11, <1.13', ['1.11.0', '1.11.5', '1.12.0', '1.12.1']],
    ['>1.11.1,<1.13', ['1.11.5', '1.12.0', '1.12.1']],
    ['~1.12.x', ['1.12.0', '1.12.1']],
    ['^1.11', ['1.11.0', '1.11.5', '1.12.0', '1.12.1', '1.13.0']],
    ['^0.0', ['0.0.3']],
    ['1.11.0 || 2.x', ['1.11.0', '2.0.0']],
    ['1.11.0 1.12.0', []],
    ['1.11', ['1.11.0', '1.11.5']],
    ['>1', ['2.0.0']],
    ['>1.11', ['1.12.0', '1.12.1', '1.13.0', '2.0.0']],
    ['<=1.12', ['0.0.3', '0.2.3', '1.11.0', '1.11.5', '1.12.0', '1.12.1']],
    ['!=1.12', ['0.0.3', '0.2.3', '1.11.0', '1.11.5', '1.13.0', '2.0.0']],
    ['1.11.0 - 1.12.0', ['1.11.0', '1.11.5', '1.12.0']],
    ['*.1.2', candidates.filter((version) => version !== '1.12.0-rc.1')],
    ['~0.0.0', candidates.filter((version) => version !== '1.12.0-rc.1')],
    ['>=1.12.0-rc.1', ['1.12.0-rc.1', '1.12.0', '1.12.1', '1.13.0', '2.0.0']],
    ['>=1.12.0-rc.1 <1.13', ['1.12.0', '1.12.1']],
    ['>=1.12.0-rc.1 <1.13.0-0', ['1.12.0-rc.1', '1.12.0', '1.12.1']],
    ['!=2.0.0', candidates.filter((version) => version !== '2.0.0')],
    ['=> v1.13 =<\t1.13.0', ['1.13.0']],
  ])('%s', (text, expected) => {
    expect(allowed(text)).toEqual(expected);
  });

  it('ignores build metadata', () => {
    expect(allowed('1.0.0+a', ['1.0.0', '1.0.0+b', '1.0.1'])).toEqual(['1.0.0', '1.0.0+b']);
  });

  it.each([
    ['^1.2.3', ['1.2.3', '1.9.0'], ['1.2.2', '2.0.0', '1.3.0-rc.1']],
    ['^0.2.3', ['0.2.3', '0.2.9'], ['0.2.2', '0.3.0', '1.2.3']],
    ['^0.0.3', ['0.0.3'], ['0.0.2', '0.0.4', '0.1.3']],
    ['^0', ['0.0.1', '0.9.0'], ['1.0.0']],
    ['^1.2.3-rc.1', ['1.2.3-rc.2', '1.4.0-alpha'], ['1.2.3-alpha', '2.0.0-rc.1']],
    // Numbers above 64 bits are texts, and texts are above numbers.
    ['<1.2.3-99999999999999999999', ['1.2.3-5'], ['1.2.3-a', '1.2.3']],
  ])('%s, by versions', (text, inside, outside) => {
    expect(allowed(text, outside)).toEqual([]);
    expect(allowed(text, inside)).toEqual(inside);
  });

  it.each([
    ['', 'improper constraint: '],
    ['1.2.3.4', 'improper constraint: 1.2.3.4'],
    ['1.0 || ', 'improper constraint:  '],
    ['==1.2.3', 'improper constraint: ==1.2.3'],
    ['!1.2.3', 'improper constraint: !1.2.3'],
    ['1.2,,1.3', 'improper constraint: 1.2,,1.3'],
    ['1 - 2 <', 'improper constraint: >= 1, <= 2 <'],
    ['|', 'constraint Parser Error'],
    ['1.2.3-01', 'constraint Parser Error'],
    ['18446744073709551616', 'constraint Parser Error'],
    ['1.xx', 'constraint Parser Error'],
  ])('%j is none', (text, problem) => {
    expect(() => parseConstraint(text)).toThrow(new VersionError(problem));
  });

  it('has an own limit of length', () => {
    const spaces = ' '.repeat(1_000_000);
    expect(() => parseConstraint(`1${spaces}- 2`)).toThrow(
      'the version range has 1000004 characters: the maximum is 4096',
    );
  });
});
