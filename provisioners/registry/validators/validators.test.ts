import { describe, expect, it } from 'vitest';
import { anObject, aRegistryBundle } from '../../../test/helpers/registry-bundle.ts';
import { supportedKinds } from '../supported-kinds.ts';
import { validators } from './index.ts';
import { onlySupportedKinds } from './only-supported-kinds.ts';
import { supportedInstallMode } from './supported-install-mode.ts';

describe('onlySupportedKinds', () => {
  it.each([...supportedKinds.keys()])('accepts %s of any group', (kind) => {
    const foreign = { ...anObject(kind), apiVersion: 'example.com/v7' };
    expect(onlySupportedKinds(aRegistryBundle({ others: [foreign] }))).toBeUndefined();
  });

  it.each(['Deployment', 'Namespace', 'List', 'secret', 'podmonitor', '__proto__'])(
    'refuses %s',
    (kind) => {
      const others = [anObject('Secret'), anObject(kind, { name: 'web' }), anObject('Pod')];
      expect(onlySupportedKinds(aRegistryBundle({ others }))).toBe(
        `bundle contains unsupported resource: Name: web, Kind: ${kind}`,
      );
    },
  );

  it('reads odd metadata as no name', () => {
    for (const metadata of [undefined, null, 7, ['a'], { name: 7 }]) {
      const others = [{ apiVersion: 'v1', kind: 'Pod', metadata } as never];
      expect(onlySupportedKinds(aRegistryBundle({ others }))).toBe(
        'bundle contains unsupported resource: Name: , Kind: Pod',
      );
    }
  });
});

describe('the list of validators', () => {
  it('checks modes first and kinds last, as v0.16 did', () => {
    expect(validators.at(0)).toBe(supportedInstallMode);
    expect(validators.at(-1)).toBe(onlySupportedKinds);
  });
});
