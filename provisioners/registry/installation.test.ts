import { describe, expect, it } from 'vitest';
import { aCsv, aRegistryBundle } from '../../test/helpers/registry-bundle.ts';
import { anyInstallation, neededModes, planInstallation } from './installation.ts';

const suggestion = 'operatorframework.io/suggested-namespace';

function namespaceOf(annotations: Record<string, string>, packageName = 'pkg'): string {
  return planInstallation(aRegistryBundle({ packageName, csv: aCsv({ annotations }) }))
    .installNamespace;
}

describe('the install namespace', () => {
  it('is the suggested one, else of the package, and comes with the bundle', () => {
    expect(namespaceOf({ [suggestion]: 'suggested' })).toBe('suggested');
    expect(namespaceOf({ [suggestion]: '' })).toBe('pkg-system');
    expect(namespaceOf({})).toBe('pkg-system');
    expect(namespaceOf({}, '')).toBe('-system');
    expect(planInstallation(aRegistryBundle()).createsNamespace).toBe(true);
  });

  it('is the one given, which has to be there', () => {
    const csv = aCsv({ annotations: { [suggestion]: 'suggested' } });
    const config = { installNamespace: 'given', overrides: {} };
    expect(planInstallation(aRegistryBundle({ csv }), config)).toMatchObject({
      installNamespace: 'given',
      createsNamespace: false,
    });
  });
});

describe('the namespaces to watch', () => {
  const targets = (watchNamespaces?: readonly string[]) =>
    planInstallation(
      aRegistryBundle(),
      watchNamespaces === undefined ? { overrides: {} } : { watchNamespaces, overrides: {} },
    ).targetNamespaces;

  it('are all of them, unless some are named', () => {
    expect(planInstallation(aRegistryBundle())).toMatchObject({
      targetNamespaces: [''],
      configured: false,
    });
    expect(targets()).toEqual(['']);
  });

  it('are each named once, in order', () => {
    expect(targets(['b', 'a', 'b'])).toEqual(['a', 'b']);
  });
});

describe('any installation of a bundle', () => {
  it.each([
    [['OwnNamespace', 'AllNamespaces'], ['AllNamespaces']],
    [['SingleNamespace', 'OwnNamespace'], ['OwnNamespace']],
    [['MultiNamespace', 'SingleNamespace'], ['SingleNamespace']],
    [['MultiNamespace'], ['MultiNamespace']],
    [['Other'], ['AllNamespaces']],
  ])('that supports %j is by mode %s', (types, modes) => {
    const installModes = types.map((type) => ({ type, supported: true }));
    const bundle = aRegistryBundle({ csv: aCsv({ installModes }) });
    expect(neededModes(anyInstallation(bundle))).toEqual(modes);
  });
});
