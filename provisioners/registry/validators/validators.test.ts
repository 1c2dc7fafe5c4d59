import { describe, expect, it } from 'vitest';
import { anInstallation } from '../../../test/helpers/installation.ts';
import {
  aCsv,
  anObject,
  anOwnedApiService,
  aRegistryBundle,
  aStrategyDeployment,
  aWebhook,
} from '../../../test/helpers/registry-bundle.ts';
import type { RegistryBundle } from '../bundle/registry-bundle.ts';
import { problemsMessage, validators } from './index.ts';
import { supportedInstallMode } from './install-modes.ts';
import { onlySupportedKinds, servedCrdVersion } from './manifests.ts';

describe('the list of validators', () => {
  it('checks modes first and kinds last, as v0.16 did, which let old CRDs pass', () => {
    expect(validators.at(0)).toBe(supportedInstallMode);
    expect(validators.slice(-2)).toEqual([onlySupportedKinds, servedCrdVersion]);
  });
});

describe('the message of the problems of a bundle', () => {
  const messageOf = (bundle: RegistryBundle) => problemsMessage(bundle, anInstallation());
  const linesOf = (...names: readonly string[]) =>
    (messageOf(aRegistryBundle({ others: pods(...names) })) ?? '').split('\n');
  const unsupported = (name: string) =>
    `bundle contains unsupported resource: Name: ${name}, Kind: Pod`;
  const pods = (...names: readonly string[]) => names.map((name) => anObject('Pod', { name }));

  it('is undefined without problems', () => {
    expect(messageOf(aRegistryBundle())).toBeUndefined();
  });

  it('is that of a single one as it is, however often it is found', () => {
    expect(messageOf(aRegistryBundle({ others: pods('a') }))).toBe(unsupported('a'));
    expect(messageOf(aRegistryBundle({ others: pods('a', 'a') }))).toBe(unsupported('a'));
  });

  it('has the first of several at its beginning, and the others on lines below it', () => {
    expect(messageOf(aRegistryBundle({ others: pods('a', 'b') }))).toBe(
      `${unsupported('a')}\nand 1 more problem:\n- ${unsupported('b')}`,
    );
    const bundle = aRegistryBundle({
      csv: aCsv({ installModes: [], webhookDefinitions: [aWebhook({ deploymentName: 'gone' })] }),
      others: pods('a'),
    });
    expect(messageOf(bundle)?.split('\n')).toEqual([
      'AllNamespace install mode must be enabled',
      'and 2 more problems:',
      expect.stringMatching(
        /^- webhook of type .* references non-existent deployment 'gone'; corr/,
      ),
      `- ${unsupported('a')}`,
    ]);
  });

  it('ends after fifty, or after six thousand characters, and says so', () => {
    const names = Array.from({ length: 70 }, (_, index) => `pod-${index}`);
    const fifty = linesOf(...names.slice(0, 50));
    expect(fifty[1]).toBe('and 49 more problems:');
    expect(fifty.at(-1)).toBe(`- ${unsupported('pod-49')}`);
    const lines = linesOf(...names);
    expect(lines.slice(0, 2)).toEqual([unsupported('pod-0'), 'and other problems, such as:']);
    expect(lines.slice(2)).toEqual(names.slice(1, 50).map((name) => `- ${unsupported(name)}`));
    const long = ['a', 'b', 'c'].map((letter) => letter.repeat(5_000));
    expect(linesOf(...long).slice(1)).toEqual([
      'and other problems, such as:',
      `- ${unsupported('b'.repeat(5_000))}`,
    ]);
    expect(linesOf('a'.repeat(20_000), 'b').slice(1)).toEqual(['and other problems.']);
  });
});

describe('each validator', () => {
  const conversion = aWebhook({ type: 'ConversionWebhook', conversionCrds: ['a.b', 'c.d'] });
  const odd = aWebhook({ generateName: 'odd', type: 'Odd', deploymentName: 'gone' });
  const short = aWebhook({ generateName: 'short', fields: { rules: [{ apiGroups: ['*'] }] } });
  const crd = (name: string, spec = {}) => ({
    ...anObject('CustomResourceDefinition', { name }),
    spec: { preserveUnknownFields: true, ...spec },
  });
  const servers = ['s.t.u', 's-t.u', 's.t-u'];
  const csv = aCsv({
    deployments: ['A', 'A', 'A', 'B', 'B', ...servers].map((name) => aStrategyDeployment({ name })),
    webhookDefinitions: [odd, odd, short, short, short, conversion, conversion],
    ownedApiServices: [
      anOwnedApiService({ group: '' }),
      anOwnedApiService(),
      ...servers.map((deploymentName) => anOwnedApiService({ deploymentName })),
    ],
  });
  const bundle = aRegistryBundle({
    csv,
    crds: [crd('c.d'), crd('e.f'), crd('e.f', { x: 1 }), crd('e.f', { x: 2 })],
    others: [
      anObject('Pod'),
      anObject('Job'),
      ...['a', 'b', 'c'].map((each) =>
        anObject('Secret', { namespace: each, labels: { each }, name: 'x' }),
      ),
    ],
  });

  it('finds all that is wrong, and not its first problem only', () => {
    const installation = anInstallation({ targetNamespaces: ['a'] });
    const counts = validators.map((validate) => [
      validate.name,
      [...validate(bundle, installation)].length,
    ]);
    expect(Object.fromEntries(counts)).toEqual({
      supportedInstallMode: 1,
      roomForRoles: 0,
      deploymentNames: 5,
      uniqueDeployments: 3,
      uniqueCrds: 2,
      distinctWhenMoved: 2,
      apiServiceDeployments: 2,
      knownWebhookTypes: 2,
      webhookDeployments: 7,
      webhookNames: 3,
      uniqueWebhooks: 2,
      webhookRules: 3,
      oneTargetPerPort: 0,
      uniqueServices: 2,
      conversionInAllNamespaces: 2,
      conversionOfOwnCrds: 2,
      oneConversionPerCrd: 2,
      conversionPrunes: 1,
      onlySupportedKinds: 2,
      servedCrdVersion: 0,
    });
  });
});
