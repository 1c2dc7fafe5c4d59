import type {
  RenderedChart,
  RenderedFile,
} from '../../../provisioners/helm/engine/chart-engine.ts';

/** What `helm template --include-crds` prints. */
export function asHelmPrints({ crds, manifests, hooks }: RenderedChart): string {
  return `${printed([...crds, ...manifests]).trim()}\n${printed(hooks)}`;
}

function printed(files: readonly RenderedFile[]): string {
  return files.map(({ path, text }) => `---\n# Source: ${path}\n${text}\n`).join('');
}
