import { describe, expect, it } from 'vitest';
import { anInstallation } from '../../../test/helpers/installation.ts';
import {
  aCsv,
  anObject,
  aRegistryBundle,
  aStrategyDeployment,
  aWebhook,
  messageOf,
} from '../../../test/helpers/registry-bundle.ts';
import type { WebhookDefinition } from '../bundle/cluster-service-version.ts';
import type { RegistryBundle } from '../bundle/registry-bundle.ts';
import {
  conversionInAllNamespaces,
  conversionOfOwnCrds,
  conversionPrunes,
  knownWebhookTypes,
  oneConversionPerCrd,
  uniqueWebhooks,
  webhookDeployments,
  webhookNames,
  webhookRules,
} from './webhooks.ts';

const deployments = [aStrategyDeployment()];

/** A bundle with deployment `web`, which serves all of these. */
function serving(webhookDefinitions: readonly WebhookDefinition[]): RegistryBundle {
  return aRegistryBundle({ csv: aCsv({ deployments, webhookDefinitions }) });
}

function aConversion(fields: Partial<WebhookDefinition> = {}): WebhookDefinition {
  return aWebhook({
    type: 'ConversionWebhook',
    generateName: 'conv',
    conversionCrds: ['things.example.com'],
    ...fields,
  });
}

function withCrd(bundle: RegistryBundle, spec: object = {}): RegistryBundle {
  const crd = { ...anObject('CustomResourceDefinition', { name: 'things.example.com' }), spec };
  return { ...bundle, crds: [crd] };
}

describe('knownWebhookTypes', () => {
  it('refuses others than the three there are', () => {
    expect(messageOf(knownWebhookTypes(serving([aWebhook(), aConversion()])))).toBeUndefined();
    expect(messageOf(knownWebhookTypes(serving([aWebhook({ type: 'Validating' })])))).toBe(
      "webhook 'vpod.example.com' has unknown type 'Validating'; correct type in the CSV's webhookdefinitions to ValidatingAdmissionWebhook, MutatingAdmissionWebhook or ConversionWebhook",
    );
  });
});

describe('webhookDeployments', () => {
  it('refuses a webhook of any type without a deployment of the CSV', () => {
    expect(messageOf(webhookDeployments(serving([aWebhook()])))).toBeUndefined();
    expect(
      messageOf(webhookDeployments(serving([aWebhook(), aConversion({ deploymentName: 'gone' })]))),
    ).toBe(
      "webhook of type 'ConversionWebhook' with name 'conv' references non-existent deployment 'gone'; correct deploymentName in the CSV's webhookdefinitions to a deployment of spec.install",
    );
  });
});

describe('webhookNames', () => {
  it.each(['a.b.c', 'a.b.c-', 'v1-thing.kb.io', `${'a.'.repeat(123)}a`])('accepts %s', (name) => {
    expect(messageOf(webhookNames(serving([aWebhook({ generateName: name })])))).toBeUndefined();
  });

  it.each(['', 'pod', 'a.b', 'A.b.c', 'a..c', 'a_b.c.d', '-a.b.c', `${'a.'.repeat(124)}a`])(
    'refuses %s',
    (generateName) => {
      expect(messageOf(webhookNames(serving([aWebhook({ generateName })])))).toBe(
        `webhook of type 'ValidatingAdmissionWebhook' has invalid name '${generateName}': it must be three or more parts of lower case letters, digits and '-', joined by dots, with at most 247 characters (such as 'vpod.example.com'); correct generateName in the CSV's webhookdefinitions`,
      );
      expect(messageOf(webhookNames(serving([aConversion({ generateName })])))).toBeUndefined();
    },
  );
});

describe('uniqueWebhooks', () => {
  it('refuses two of one type and name, however that is written', () => {
    const mutating = aWebhook({ type: 'MutatingAdmissionWebhook' });
    expect(messageOf(uniqueWebhooks(serving([aWebhook(), mutating])))).toBeUndefined();
    expect(messageOf(uniqueWebhooks(serving([aConversion(), aConversion()])))).toBeUndefined();
    const again = aWebhook({ generateName: 'vpod.example.com-' });
    expect(messageOf(uniqueWebhooks(serving([aWebhook(), again])))).toBe(
      "duplicate webhook 'vpod.example.com-' of type 'ValidatingAdmissionWebhook'; give each its own generateName in the CSV's webhookdefinitions",
    );
  });
});

describe('webhookRules', () => {
  const rulesOf = (apiGroups: readonly string[], resources: readonly string[]) =>
    messageOf(webhookRules(serving([aWebhook({ fields: { rules: [{ apiGroups, resources }] } })])));

  it.each([
    '*',
    'core.rukpak.io',
    'olm.operatorframework.io',
    'operators.operatorframework.io',
    'catalogd.operatorframework.io',
  ])('refuses group %s', (group) => {
    expect(rulesOf(['apps', group], ['pods'])).toBe(
      `webhook "vpod.example.com" contains forbidden rule: admission webhook rules cannot reference API group "${group}"; name what the webhook is for in the rules of the CSV's webhookdefinitions`,
    );
  });

  it.each(['*', 'mutatingwebhookconfigurations', 'ValidatingWebhookConfiguration'])(
    'refuses %s of the API of webhooks',
    (resource) => {
      expect(rulesOf(['admissionregistration.k8s.io'], ['a', resource])).toContain(
        `cannot reference resource "${resource}" for API group "admissionregistration.k8s.io"`,
      );
      expect(rulesOf(['example.com'], [resource])).toBeUndefined();
    },
  );

  it('leaves invalid rules, and rules of conversion, to the API server', () => {
    for (const rules of [undefined, 7, ['text'], [{ apiGroups: 'text' }]]) {
      const fields = rules === undefined ? {} : { rules };
      expect(messageOf(webhookRules(serving([aWebhook({ fields })])))).toBeUndefined();
    }
    const fields = { rules: [{ apiGroups: ['*'] }] };
    expect(messageOf(webhookRules(serving([aConversion({ fields })])))).toBeUndefined();
  });
});

describe('conversionInAllNamespaces', () => {
  it('refuses conversion for some namespaces, even if the CSV supports all', () => {
    const some = anInstallation({ targetNamespaces: ['a', 'b'] });
    expect(messageOf(conversionInAllNamespaces(serving([aWebhook()]), some))).toBeUndefined();
    expect(
      messageOf(conversionInAllNamespaces(serving([aConversion()]), anInstallation())),
    ).toBeUndefined();
    expect(messageOf(conversionInAllNamespaces(serving([aConversion()]), some))).toBe(
      'bundle contains conversion webhook "conv" and is to watch namespaces [a b] - conversion webhooks are only supported in AllNamespaces install mode; remove watchNamespace and watchNamespaces from spec.config of the BundleDeployment',
    );
  });
});

describe('conversionOfOwnCrds', () => {
  it("refuses to convert what is not the bundle's", () => {
    expect(messageOf(conversionOfOwnCrds(withCrd(serving([aConversion()]))))).toBeUndefined();
    expect(messageOf(conversionOfOwnCrds(serving([aWebhook(), aConversion()])))).toBe(
      "conversion webhook 'conv' references custom resource definition 'things.example.com' not owned bundle; add the CRD to the bundle's manifests or take it out of conversionCRDs in the CSV's webhookdefinitions",
    );
  });
});

describe('oneConversionPerCrd', () => {
  it('refuses two webhooks for one CRD', () => {
    const twice = aConversion({ conversionCrds: ['a', 'a'] });
    expect(messageOf(oneConversionPerCrd(serving([twice, aConversion()])))).toBeUndefined();
    const first = aConversion({ generateName: 'another' });
    expect(messageOf(oneConversionPerCrd(serving([aConversion(), first])))).toBe(
      "conversion webhooks [another,conv] reference same custom resource definition 'things.example.com'; leave it in conversionCRDs of one of them in the CSV's webhookdefinitions",
    );
  });
});

describe('conversionPrunes', () => {
  it('refuses to convert what keeps unknown fields', () => {
    const bundle = serving([aConversion()]);
    expect(
      messageOf(conversionPrunes(withCrd(bundle, { preserveUnknownFields: false }))),
    ).toBeUndefined();
    expect(
      messageOf(conversionPrunes(withCrd(serving([]), { preserveUnknownFields: true }))),
    ).toBeUndefined();
    expect(messageOf(conversionPrunes(withCrd(bundle, { preserveUnknownFields: true })))).toBe(
      "custom resource definition 'things.example.com' must have .spec.preserveUnknownFields set to false to let API Server call webhook to do the conversion; correct the CRD in the bundle's manifests",
    );
  });
});
