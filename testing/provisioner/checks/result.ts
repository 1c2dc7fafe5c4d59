import type { BundleFiles } from '../../../core/sdk.ts';
import { assertEqual } from '../../assert-equal.ts';
import { bundleFiles, type FileTexts } from '../../builders/bundle-files.ts';
import { contentTexts } from '../../content-texts.ts';
import type { AcceptedContent, ConfiguredContent, DeploymentFixture } from '../fixtures.ts';
import type { Trial } from '../trial.ts';
import { assertWellShaped } from '../well-shaped.ts';

/** What a fixture may say of a result. */
export type Expected = Pick<AcceptedContent, 'stored'> &
  Pick<ConfiguredContent, 'adapted'> &
  Pick<DeploymentFixture, 'objects'>;

/** The handler takes the fixture, and gives what the fixture says, where it says so. */
export async function checkResult(
  trial: Trial,
  { stored, adapted, objects }: Expected,
): Promise<void> {
  const result = await trial.run(await trial.given());
  assertWellShaped(trial.handler, result);
  if (stored !== undefined && trial.handler === 'bundle') {
    assertTexts(result, stored, 'what it stores is not what the fixture says');
  }
  if (adapted !== undefined && trial.handler === 'configure') {
    assertTexts(result, adapted, 'what it leaves to be deployed is not what the fixture says');
  }
  if (objects !== undefined && trial.handler === 'deployment') {
    assertEqual(result, objects, 'its objects are not those of the fixture');
  }
}

function assertTexts(result: unknown, texts: FileTexts, sentence: string): void {
  assertEqual(contentTexts(result as BundleFiles), contentTexts(bundleFiles(texts)), sentence);
}
