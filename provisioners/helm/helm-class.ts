import type { Provisioner } from '../../core/sdk.ts';
import { checkChart } from './check-chart.ts';
import { parseConfig } from './config/parse-config.ts';
import { renderChart } from './render-chart.ts';
import type { LoadEngine } from './shared-engine.ts';

/** The class over an engine that is loaded when the first chart comes, and not before. */
export function helmClass(loadEngine: LoadEngine): Provisioner {
  return {
    className: 'core-rukpak-io-helm',
    uses: ['cluster', 'seed'],
    bundle: (files, _bundle, context) => checkChart(files, context, loadEngine),
    inputs: async ({ spec }, { logger }) => parseConfig(spec.config, logger).valuesFrom,
    deployment: (files, deployment, context) =>
      renderChart({ files, deployment, context }, loadEngine),
  };
}
