import { describe, expect, it } from 'vitest';
import { aCsv, aRegistryBundle } from '../../test/helpers/registry-bundle.ts';
import { planInstallation } from './plan-installation.ts';

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
