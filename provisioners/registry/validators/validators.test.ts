import { describe, expect, it } from 'vitest';
import { aCsv, anObject, aRegistryBundle } from '../../../test/helpers/registry-bundle.ts';
import { supportedKinds } from '../supported-kinds.ts';
import { validators } from './index.ts';
import { noApiServices } from './no-api-services.ts';
import { noWebhooks } from './no-webhooks.ts';
import { onlySupportedKinds } from './only-supported-kinds.ts';
import { supportedInstallMode } from './supported-install-mode.ts';

describe('noApiServices', () => {
  it('refuses an owned APIService', () => {
    const bundle = aRegistryBundle({ csv: aCsv({ ownedApiServices: [{} as never] }) });
    expect(noApiServices(bundle)).toBe('apiServiceDefintions are not supported');
    expect(noApiServices(aRegistryBundle())).toBeUndefined();
  });
});

describe('noWebhooks', () => {
  it('refuses any webhook definition', () => {
    const bundle = aRegistryBundle({ csv: aCsv({ webhookDefinitions: [{} as never] }) });
    expect(noWebhooks(bundle)).toBe('webhookDefinitions are not supported');
    expect(noWebhooks(aRegistryBundle())).toBeUndefined();
  });
});

describe('onlySupportedKinds', () => {
  it.each([...supportedKinds.keys()])('accepts %s of any group', (kind) => {
    const foreign = { ...anObject(kind), apiVersion: 'example.com/v7' };
    expect(onlySupportedKinds(aRegistryBundle({ others: [foreign] }))).toBeUndefined();
  });

  it.each(['Deployment', 'Namespace', 'List', 'secret', 'PodMonitor', '__proto__'])(
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
  it('checks modes, then APIServices, then webhooks, then kinds', () => {
    expect(validators).toEqual([
      supportedInstallMode,
      noApiServices,
      noWebhooks,
      onlySupportedKinds,
    ]);
  });
});
