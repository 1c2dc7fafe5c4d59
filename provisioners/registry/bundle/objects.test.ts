import { describe, expect, it } from 'vitest';
import { anObject } from '../../../test/helpers/registry-bundle.ts';
import { uniqueObjects } from './objects.ts';

describe('uniqueObjects', () => {
  it('keeps the last of several, at its own place', () => {
    const generated = anObject('ServiceAccount', { name: 'a', namespace: 'ns' });
    const between = anObject('Secret', { name: 'a', namespace: 'ns' });
    const own = anObject('ServiceAccount', { name: 'a', namespace: 'ns', labels: { own: 'yes' } });
    expect(uniqueObjects([generated, between, own])).toEqual([between, own]);
  });

  it('identifies objects by group, kind, namespace and name, not by version', () => {
    const role = { ...anObject('Role', { name: 'a', namespace: 'ns' }), apiVersion: 'x.io/v1' };
    const others = [
      { ...role, apiVersion: 'y.io/v1' },
      { ...role, kind: 'Other' },
      { ...role, metadata: { name: 'a', namespace: 'other' } },
      { ...role, metadata: { name: 'b', namespace: 'ns' } },
      { ...role, metadata: { name: 'a' } },
    ];
    expect(uniqueObjects([role, ...others])).toHaveLength(6);
    const newer = { ...role, apiVersion: 'x.io/v2' };
    expect(uniqueObjects([role, newer])).toEqual([newer]);
  });

  it('keeps every object without a name, and never crashes on odd ones', () => {
    const odd = [undefined, null, 7, 'x', { name: 7 }, { generateName: 'x-' }].map(
      (metadata) => ({ apiVersion: 7, kind: 'Secret', metadata }) as never,
    );
    expect(uniqueObjects(odd)).toHaveLength(6);
  });
});
