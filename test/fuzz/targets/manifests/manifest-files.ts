import { TerminalError } from '../../../../core/errors.ts';
import { parseManifests, readPlainBundle } from '../../../../core/manifests/index.ts';
import type { FuzzTarget } from '../../fuzz-target.ts';
import { expectPlain } from './values.ts';

/** Whole files of plain bundles: JSON or YAML, any number of documents, lists. */
export const manifestFiles: FuzzTarget = {
  name: 'manifest-files',
  seeds: [
    '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n--- # next\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: b}\n---\n# nothing\n',
    '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"y"}}}]}\n{"apiVersion":"v1","kind":"Pod","metadata":{}}',
    '{"apiVersion":"v1","kind":"A"}\n---\napiVersion: v1\nkind: B\nmetadata:\n  annotations: {a: "1"}\n',
    'apiVersion: apps/v1\nkind: DeploymentList\nitems: []\n',
  ],
  words: [
    '---\n',
    '--- x\n',
    'items:',
    'kind: List\n',
    'metadata: ',
    'apiVersion: v1\n',
    '{"items":[',
    '\n',
    ': 1',
  ],
  refusals: [TerminalError],
  read(input) {
    const files = new Map([['manifests/a.yaml', input]]);
    const bundle = { files, directories: new Set(['manifests']) };
    for (const object of parseManifests('manifests/a.yaml', input, 2_000)) expectPlain(object);
    readPlainBundle(bundle, { maxObjects: 2_000 });
  },
};
