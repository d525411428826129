"""The loop: Trainer, fit(), callbacks with Keras' names, and estimators with scikit-learn's face.

    trainer = Trainer(net, 'cross_entropy', saltern.optim.Adam(net.parameters()), metrics=['accuracy'])
    history = trainer.fit(x, y, epochs=10, validation_data=(x2, y2), callbacks=[EarlyStopping(patience=3)])
    Classifier(hidden=(64,)).fit(x, y).predict(x2)
"""
from .callbacks import (Callback, CallbackList, EarlyStopping, History, LambdaCallback, LearningRateScheduler,
                        ReduceLROnPlateau, TerminateOnNaN)
from .estimators import Classifier, Regressor
from .keeping import BackupAndRestore, ModelCheckpoint, SwapEMAWeights
from .report import write_report
from .showing import CSVLogger, ProgbarLogger, RemoteMonitor, TensorBoard
from .trainer import NotFinite, Trainer, fit
