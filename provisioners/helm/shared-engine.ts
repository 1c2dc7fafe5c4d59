import { type ChartEngine, loadChartEngine } from './engine/index.ts';

export type LoadEngine = () => Promise<ChartEngine>;

let loading: Promise<ChartEngine> | undefined;

/** The one engine of this process, loaded when the first chart comes. */
export async function sharedEngine(): Promise<ChartEngine> {
  loading ??= loadChartEngine();
  try {
    return await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}
