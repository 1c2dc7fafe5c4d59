import { expect, test } from 'vitest';
import { aTree } from '../../../test/helpers/registry-bundle.ts';
import { problemLine } from '../problem.ts';
import { validateBundle } from '../validate-bundle.ts';

/** What is said of one manifest, without the way to it. */
function judged(yaml: string): string[] {
  const { problems } = validateBundle(aTree({ 'manifests/a.yaml': yaml }));
  return problems.map((problem) => problemLine(problem).replace(' manifests/a.yaml', ''));
}

const web = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: web:1
          ports: [{containerPort: 80}]
          resources: {limits: {cpu: 1, memory: 1Gi}}
          readinessProbe: {httpGet: {path: /, port: http}}
`;

test('what Kubernetes knows is not found fault with', () => {
  expect(judged(web)).toEqual([]);
  expect(
    judged(web.replace('name: web\nspec', 'name: web\n  creationTimestamp: null\nspec')),
  ).toEqual([]);
});

test('a kind that there is none of is an error, with the one that is meant', () => {
  expect(judged(web.replace('kind: Deployment', 'kind: Deplyment'))).toEqual([
    'error::2: apps/v1 has no kind "Deplyment" in Kubernetes 1.36; write "Deployment"',
  ]);
  expect(judged(web.replace('apps/v1', 'v1'))).toEqual([
    'error::2: v1 has no kind "Deployment" in Kubernetes 1.36; write "apiVersion: apps/v1"',
  ]);
});

test('a field that core would drop is a warning, and where it is', () => {
  expect(judged(web.replace('replicas', 'replcas'))).toEqual([
    'warning::6: spec.replcas of Deployment "web" is no field of Kubernetes 1.36: core applies the object without it; write "replicas"',
  ]);
  expect(judged(web.replace('name: web\n          image', 'name: web\n          imge'))).toEqual([
    'warning::13: spec.template.spec.containers[0].imge of Deployment "web" is no field of Kubernetes 1.36: core applies the object without it; write "image"',
  ]);
});

test('a required field that is missing is an error, and where it belongs', () => {
  expect(judged(web.replace('  selector: {matchLabels: {app: web}}\n', ''))).toEqual([
    'error::5: spec.selector of Deployment "web" is missing: Kubernetes 1.36 requires it; add it',
  ]);
  expect(judged(web.replace('- name: web\n          image', '- image'))).toEqual([
    'error::12: spec.template.spec.containers[0].name of Deployment "web" is missing: Kubernetes 1.36 requires it; add it',
  ]);
  expect(judged(web.replace('port: http', 'port: null'))).toEqual([
    'error::16: spec.template.spec.containers[0].readinessProbe.httpGet.port of Deployment "web" is missing: Kubernetes 1.36 requires it; add it',
  ]);
});

test('a field that the document requires and the API server does not is not missed', () => {
  const probe = 'httpGet: {path: /, port: http, httpHeaders: [{name: Host}]}';
  expect(judged(web.replace('httpGet: {path: /, port: http}', probe))).toEqual([]);
});

test.each([
  [
    'replicas: 1',
    'replicas: "1"',
    'spec.replicas of Deployment "web" is a string, and must be a number; correct it',
  ],
  [
    'image: web:1',
    'image: 1',
    'spec.template.spec.containers[0].image of Deployment "web" is a number, and must be a string; write it in quotes',
  ],
  [
    'labels: {app: web}',
    'labels: {app: true}',
    'spec.template.metadata.labels.app of Deployment "web" is a boolean, and must be a string; write it in quotes',
  ],
  [
    'ports: [{containerPort: 80}]',
    'ports: {containerPort: 80}',
    'spec.template.spec.containers[0].ports of Deployment "web" is an object, and must be a list; correct it',
  ],
])('%s written as %s is an error', (right, wrong, message) => {
  expect(judged(web.replace(right, wrong))).toEqual([expect.stringContaining(`: ${message}`)]);
});

test('a version that this Kubernetes does not serve is a warning: other clusters may', () => {
  const budget = 'apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\n';
  expect(judged(budget)).toEqual([
    'warning::1: Kubernetes 1.36 does not serve policy/v1beta1 (PodDisruptionBudget) unless it is asked to; write an apiVersion that the clusters serve which it is for',
  ]);
});

test('kinds of others are none of its business', () => {
  expect(
    judged('apiVersion: example.com/v1\nkind: Deplyment\nmetadata: {name: a}\nspec: 5\n'),
  ).toEqual([]);
});
