import { parseCrd } from '../../../../webhooks/crd-upgrade/custom-resources.ts';
import { parseAdmissionReview } from '../../../../webhooks/review.ts';
import { bundleValidator } from '../../../../webhooks/reviewers/bundle.ts';
import { type FuzzTarget, textOf, Violation } from '../../fuzz-target.ts';

function review(request: object): string {
  const uid = '11111111-2222-3333-4444-555555555555';
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid, ...request },
  });
}

const bundle = {
  apiVersion: 'core.rukpak.io/v1alpha1',
  kind: 'Bundle',
  metadata: { name: 'a' },
  spec: {
    provisionerClassName: 'x',
    source: { type: 'git', git: { repository: 'https://h/x', ref: { branch: 'main' } } },
  },
};
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
const validate = bundleValidator({ get: async () => ({ immutable: true }) });

/** Admission reviews, and anything else that a client may send to the webhooks. */
export const admissionReviews: FuzzTarget = {
  name: 'admission-reviews',
  seeds: [
    review({
      operation: 'CREATE',
      name: 'a',
      object: bundle,
      userInfo: { username: 'me', groups: ['g'], extra: { k: ['v'] } },
    }),
    review({
      operation: 'UPDATE',
      object: bundle,
      oldObject: bundle,
      namespace: 'n',
      subResource: 'status',
    }),
    review({
      operation: 'UPDATE',
      object: crd,
      oldObject: crd,
      options: { propagationPolicy: 'Orphan' },
    }),
  ],
  words: [
    '"object":null',
    '"oldObject":{}',
    '"operation":"DELETE"',
    '"__proto__":{"x":1},',
    '12345678901234567890',
    '"spec":[]',
    '{',
    '}',
  ],
  refusals: [Error],
  async read(input, signal) {
    const request = parseAdmissionReview(textOf(input));
    const verdict = await validate(request, signal);
    const text = verdict.status?.reason ?? verdict.status?.message;
    if (!verdict.allowed && (text ?? '') === '') throw new Violation('denies without a reason');
    parseCrd(request.object);
  },
};
