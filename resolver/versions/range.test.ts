import { describe, expect, it } from 'vitest';
import { isInRange, parseRange, parseVersion, rangeProblem } from './index.ts';

describe('a range', () => {
  it.each([
    ['1.0.0', ['1.0.0', '1.0.0+b'], ['1.0.1']],
    ['>=1.2.3-rc.1 !1.3.0 || < 0.1.0', ['1.2.3-rc.2', '0.0.9', '9.0.0'], ['1.3.0', '1.2.3-alpha']],
    ['1.x', ['1.0.0', '1.9.9'], ['2.0.0', '0.9.0']],
    // As upstream reads it, on purpose or not.
    ['1.x.x', ['1.0.9'], ['1.1.0']],
    ['<=1.2.x', ['1.2.9'], ['1.3.0']],
    ['!=1.2.x', [], ['1.1.0', '1.2.0', '1.3.0']],
    ['1.0.0 - 2.0.0', [], ['1.0.0', '1.5.0', '2.0.0']],
    ['>1.0.0 || || <0.1.0', ['2.0.0'], ['1.0.0', '0.5.0']],
  ])('%s', (text, inside, outside) => {
    const range = parseRange(text);
    const isInside = (version: string) => isInRange(parseVersion(version), range);
    expect(inside.filter((version) => !isInside(version))).toEqual([]);
    expect(outside.filter(isInside)).toEqual([]);
  });

  // Recorded from blang/semver v4.0.0.
  it.each([
    ['', "Last element in range is '||'"],
    ['|| 1.0.0', "First element in range is '||'"],
    ['1.0.0 || ', "Last element in range is '||'"],
    ['<x', 'Could not get version from string: "<x"'],
    ['*', "Last element in range is '||'"],
    ['ä', 'Could not get version from string: "ä"'],
    [
      '>=1.0',
      'Could not parse Range ">=1.0": Could not parse version "1.0" in ">=1.0": No Major.Minor.Patch elements found',
    ],
    ['^1.0.0', 'Could not parse Range "^1.0.0": Could not parse comparator "^" in "^1.0.0"'],
    [
      '1.0.0||2.0.0',
      'Could not parse Range "1.0.0||2.0.0": Could not parse version "1.0.0||2.0.0" in "1.0.0||2.0.0": Invalid character(s) found in patch number "0||2.0.0"',
    ],
    ['1.0.0-x1', 'Could not get version from string: "<"'],
  ])('%j is none', (text, problem) => {
    expect(rangeProblem(text)).toBe(problem);
  });
});
