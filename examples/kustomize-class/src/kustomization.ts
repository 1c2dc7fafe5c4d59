import type { Folder } from './folder.ts';
import { quoted } from './quoted.ts';
import type { Value } from './value.ts';

/** A folder's kustomization, in which no field is that would not be heeded. */
export function readKustomization(folder: Folder): Value {
  const kustomization = folder.kustomization();
  kustomization.onlyHas(
    'apiVersion',
    'kind',
    'resources',
    'configMapGenerator',
    'secretGenerator',
    'generatorOptions',
    'patches',
    'namespace',
    'namePrefix',
    'nameSuffix',
    'labels',
    'commonLabels',
    'commonAnnotations',
    'replicas',
    'images',
  );
  mustBe(kustomization.get('kind'), 'Kustomization');
  mustBe(kustomization.get('apiVersion'), 'kustomize.config.k8s.io/v1beta1');
  return kustomization;
}

function mustBe(value: Value, wanted: string): void {
  const found = value.optionalText() ?? wanted;
  if (found !== wanted) throw value.refused(`is ${quoted(found)}, and must be ${quoted(wanted)}`);
}
